package ftptest

import "time"

// The ways in which servers differ.

// NoREST is the personality no-rest.
func NoREST(s *Server) { s.Hide = append(s.Hide, "REST") }

// RESTIgnored is the personality rest-ignored.
func RESTIgnored(s *Server) { s.IgnoreREST = true }

// NoMLSD is the personality no-mlsd.
func NoMLSD(s *Server) { s.Hide = append(s.Hide, "MLSD", "MLST") }

// MLSDRefused is the personality mlsd-refused.
func MLSDRefused(s *Server) { s.with(Replies{"MLSD": "550 MLSD: Operation not permitted."}) }

// ListsNothing is the personality lists-nothing.
func ListsNothing(s *Server) {
	s.Listing = func(l Listing) []string {
		if l.Command == "MLST" {
			return l.Usual()
		}
		return nil
	}
}

// TruncatingList is the personality truncating-list.
func TruncatingList(s *Server) {
	usual := s.Listing
	if usual == nil {
		usual = Listing.Usual
	}
	s.Listing = func(l Listing) []string {
		lines := usual(l)
		return lines[:(len(lines)+1)/2]
	}
}

// InetdLimit is the personality inetd-limit.
func InetdLimit(s *Server) { s.MaxConns = 2 }

// TLSSessionReuse is the personality tls-session-reuse. It needs TLS, which it does not set.
func TLSSessionReuse(s *Server) { s.ReuseTLS = true }

// Late226 is the personality late-226.
func Late226(s *Server) { s.Delays = map[string]time.Duration{"226": 30 * time.Second} }

// SilentABOR is the personality silent-abor.
func SilentABOR(s *Server) { s.with(Replies{"ABOR": ""}) }

// UnaskedRefusal is the personality unasked-refusal.
func UnaskedRefusal(s *Server) { s.with(Replies{"PASS 230": "230 {usual}\n550 Not allowed."}) }

// maxRefused is the size from which the personalities stor-refused refuse an upload, in bytes.
const maxRefused = 64 << 10

// STORRefused is the personality stor-refused.
func STORRefused(s *Server) { s.MaxUpload = maxRefused }

// STORRefusedDrained is the personality stor-refused-drained.
func STORRefusedDrained(s *Server) { s.MaxUpload, s.DrainUploads = maxRefused, true }

// RenameRefused is the personality rename-refused.
func RenameRefused(s *Server) { s.with(Replies{"RNTO": "550 Rename failed."}) }

// PASVSilent is the personality pasv-silent.
func PASVSilent(s *Server) { s.Passive = PassiveSilent }

// PASVUnaccepted is the personality pasv-unaccepted.
func PASVUnaccepted(s *Server) { s.Passive = PassiveUnaccepted }

// PASVRefused is the personality pasv-refused.
func PASVRefused(s *Server) { s.Passive = PassiveRefused }

// EPLF is the personality eplf.
func EPLF(s *Server) { s.Listing = EPLFListing }
