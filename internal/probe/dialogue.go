package probe

// FTPDialogue is the conversation that is played to every real FTP server: without its replies. The
// files are those that FTPFiles describes.
const FTPDialogue = `S: 220
C: PWD
C: SYST
C: FEAT
C: NOOP
C: HELP
C: USER anonymous
C: PASS me@example.test
C: PWD
C: QUIT

S: 220
C: USER lab
C: PASS wrong

S: 220
C: USER lab
C: PASS secret
C: SYST
C: FEAT
C: NOOP
C: PWD
C: TYPE A
C: SIZE hello.txt
C: PASV
C: RETR hello.txt
C: TYPE I
C: SIZE hello.txt
C: SIZE missing.txt
C: SIZE sub
C: MDTM hello.txt
C: MDTM sub
C: MDTM missing.txt
C: CWD sub
C: PWD
C: CDUP
C: CWD missing
C: CWD hello.txt
C: EPSV
C: LIST
C: PASV
C: LIST sub
C: PASV
C: LIST missing.txt
C: PASV
C: NLST
C: PASV
C: NLST sub
C: PASV
C: NLST missing.txt
C: PASV
C: MLSD
C: MLST hello.txt
C: PASV
C: RETR hello.txt
C: PASV
C: REST 6
C: RETR hello.txt
C: PASV
C: RETR missing.txt
C: PASV
C: RETR sub
C: PASV
C: STOR up.txt
U: up
C: PASV
C: APPE up.txt
U: and up
C: SIZE up.txt
C: MKD new
C: RMD new
C: RNFR up.txt
C: RNTO moved.txt
C: DELE moved.txt
C: DELE missing.txt
C: MODE S
C: STRU F
C: ALLO 10
C: ABOR
C: OPTS UTF8 ON
C: OPTS MLST Size;TYPE;nope;
C: FEAT
C: MLST hello.txt
C: PASV
C: MLSD
C: OPTS MLST nope
C: XYZZY
C: CWD
C: HELP
C: QUIT
`

// GopherDialogue is the same for gopher servers, with TABs as "\t".
const GopherDialogue = `C: /
C: /sub
C: /hello.txt
C: /dots.txt
C: /empty.txt
C: /sub/a.bin
C: /missing.txt
C: /hello.txt\t+
C: /hello.txt\t!
C: /sub\t+
C: /sub\t$
C: /missing.txt\t+
`

// NewsDialogue is the same for news servers. The group local.test has two articles, and local.empty
// has none.
const NewsDialogue = `S: 200
C: CAPABILITIES
C: MODE READER
C: CAPABILITIES
C: DATE
C: LIST ACTIVE local.test
C: LIST NEWSGROUPS local.test
C: LIST OVERVIEW.FMT
C: ARTICLE 1
C: GROUP local.nosuch
C: GROUP local.empty
C: STAT
C: GROUP local.test
C: STAT
C: BODY 1
C: STAT <one@example.test>
C: ARTICLE 99
C: ARTICLE <nosuch@example.test>
C: ARTICLE x
C: LAST
C: NEXT
C: LISTGROUP
C: OVER 99
C: HDR Subject 1
C: XHDR Subject 1
C: NEWNEWS local.* 20200101 000000 GMT
C: XYZZY
C: LIST XYZZY
C: QUIT
`
