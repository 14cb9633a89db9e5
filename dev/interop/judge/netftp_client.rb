# A client with Net::FTP of Ruby: TASK URL TARGET [CA]. With CA it demands AUTH TLS.
require 'net/ftp'
require 'uri'

task, address, target, ca = ARGV
url = URI.parse(address)
path = URI.decode_www_form_component(url.path.delete_prefix('/').gsub('+', '%2B'))

options = { port: url.port, open_timeout: 5, read_timeout: 5, ssl_handshake_timeout: 5 }
options[:username] = URI.decode_www_form_component(url.user || 'anonymous')
options[:password] = URI.decode_www_form_component(url.password || '')
options[:ssl] = { ca_file: ca, verify_mode: OpenSSL::SSL::VERIFY_PEER } if ca
# At the end of an upload it closes without having read the session tickets of TLS 1.3, so that the
# kernel resets the connection and data is lost.
options[:ssl][:max_version] = OpenSSL::SSL::TLS1_2_VERSION if ca && task == 'upload'
begin
  Net::FTP.open(url.host, options) do |ftp|
    case task
    when 'download' then ftp.getbinaryfile(path, target)
    when 'resume'
      ftp.resume = true
      ftp.getbinaryfile(path, target)
    when 'upload' then ftp.putbinaryfile(target, path)
    when 'list'
      ftp.chdir(path) unless path.empty?
      puts ftp.nlst
    end
  end
rescue Net::FTPError, OpenSSL::SSL::SSLError, SystemCallError, IOError, Timeout::Error => e
  abort "Net::FTP: #{e.class}: #{e.message}"
end
