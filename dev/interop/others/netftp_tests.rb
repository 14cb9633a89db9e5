# frozen_string_literal: true

# Runs the tests of Ruby's Net::FTP (testdata/net-ftp, as in its repository) with the installed
# Net::FTP and test servers of this project. The server of a test is a block that reads commands and
# writes replies and data. Here it is only asked: what it writes becomes files and faults of a test
# server, which the client talks to through a relay.

require "json"
require "net/http"
require "test/unit"
require "test/unit/testresult"
Test::Unit::AutoRunner.need_auto_run = false
require ARGV.fetch(0)

# A test server of the program in FETCH1738, which ends with this one.
class Server
  PROGRAM = IO.popen([ENV.fetch("FETCH1738"), *%w[serve --control 127.0.0.1:0 --until-eof]], "r+")
  ACCESS = JSON.parse(PROGRAM.gets)

  attr_reader :port

  def initialize(settings)
    @path = "/v1/servers"
    about = JSON.parse(send_request("Post", "", settings.to_json))
    @path += "/#{about["id"]}"
    @port = about["port"]
  end

  def send_request(method, path, body = nil, kind = "application/json")
    url = URI(ACCESS["control"] + @path + path)
    headers = { "Authorization" => "Bearer #{ACCESS["token"]}", "Content-Type" => kind }
    request = Net::HTTP.const_get(method).new(url, headers)
    response = Net::HTTP.start(url.host, url.port) { |http| http.request(request, body) }
    raise "#{method} #{path}: #{response.body}" if response.code.to_i >= 300
    response.body
  end

  def file(name) = "/files/" + URI.encode_www_form_component(name.delete_prefix("/")).gsub("+", "%20").gsub("%2F", "/")
  def put(name, data) = send_request("Put", file(name), data, "application/octet-stream")
  def get(name) = send_request("Get", file(name))
  def close = send_request("Delete", "")

  # Makes the server say the address that a 227 has, or if that is none, one that nobody has.
  def say_host(reply)
    return unless reply =~ /\((\d+),(\d+),(\d+),(\d+),/
    host = $~.captures.map(&:to_i)
    host = [192, 0, 2, 1] if host.max > 255
    send_request("Put", "/public", { host: host.join(".") }.to_json)
  end

  def arm(stage, fault, text: nil, **more)
    more[:octets] = [text].pack("m0") if text
    send_request("Post", "/faults", { stage: stage, n: 1, faults: [{ fault: fault, **more }] }.to_json)
  end
end

# The time limits of the tests, such as 0.2 s, may be too short on a busy machine, so they are
# longer here. In the tests in which they are exceeded, so are the pauses.
PATIENCE = 5
$exceeded = false
Net::BufferedIO.prepend(Module.new do
  def initialize(io, read_timeout: 60, **) = super(io, read_timeout: read_timeout * PATIENCE)

  def read_timeout=(seconds)
    super(seconds * PATIENCE)
  end
end)

# The control connection, as the block of a test sees it, and the data connection.
class Relay
  LISTINGS = %w[LIST NLST MLSD].freeze

  def initialize(client, server)
    @client, @server = client, server
    @said, @data, @pauses, @ascii = +"", nil, [], true
  end

  # Passes on what the block has said to the last command, and returns the next one.
  def gets
    respond
    @line = @client.gets
  end

  def print(text) = @said << text
  def printf(*args) = print(format(*args))
  def pause(seconds) = @pauses << seconds * ($exceeded ? PATIENCE : 1)

  def connect
    @data = +"".b
    self
  end

  # The data connection.
  alias accept connect
  def shutdown(*) = nil
  def close = nil
  def local_address = self
  def ipv4? = true
  def ip_port = 1
  def send_data(*parts) = parts.each { |part| @first ||= part.bytesize; @data << part.b }

  # Returns what the client uploads.
  def receive
    return "" unless verb == "STOR"
    forward
    relay
    @last = reply
    data = @server.get(@line.split(" ", 2)[1].chomp)
    @ascii ? data.gsub("\n", "\r\n") : data
  end

  def respond
    if @upstream.nil?
      @server.arm("GREETING", "Reply", text: @said.chomp) unless @said.empty?
      @upstream = TCPSocket.new("127.0.0.1", @server.port)
      relay
    elsif @line.nil?
      nil # the client has gone
    elsif @last
      @client.print(@last)
    elsif @data
      prepare
      forward
      2.times { relay }
    elsif !@said.empty?
      ports = %w[PORT EPRT PASV EPSV].include?(verb) && @said.start_with?("2")
      if ports
        @server.say_host(@said) # the ports are those of the server
      else
        @server.arm(verb, "Reply", text: @said.gsub("\r\n", "\n").chomp)
      end
      @server.arm(verb, "Delay", d: "#{@pauses.sum}s") unless @pauses.empty?
      @ascii = @line.start_with?("TYPE A") if verb == "TYPE"
      forward
      relay
    end
    @said, @data, @pauses, @first, @last = +"", nil, [], nil, nil
  end

  private

  def verb = @line[/\A\w+/]

  # Gives the server what the block has sent on the data connection.
  def prepare
    if LISTINGS.include?(verb)
      @server.arm(verb, "Data", text: @data)
    else
      @server.put(@line.split(" ", 2)[1].chomp, @data)
    end
    @server.arm(verb, "Drip", n: @first, d: "#{@pauses.max}s") unless @pauses.empty?
  end

  def forward = @upstream.print(@line)
  def relay = @client.print(reply)

  def reply
    ready, = IO.select([@upstream, @client])
    raise Errno::EPIPE if ready.include?(@client) && @client.eof? # it waits no longer
    text = +""
    text << (@upstream.gets or break) until text =~ /^\d{3} .*\n\z/
    text
  end
end

# What the block of a test uses of Ruby's sockets.
class DataConnection
  def initialize(relay) = @relay = relay
  def print(*parts) = @relay.send_data(*parts)
  def read = @relay.receive
  def shutdown(*) = nil
  def close = nil
end

class FTPTest
  remove_const(:SERVER_ADDR)
  SERVER_ADDR = "127.0.0.1"

  class TCPSocket
    def self.new(*) = DataConnection.new(Thread.current[:relay].connect)
  end

  class TCPServer
    def self.new(*) = self
    def self.local_address = Thread.current[:relay]
    def self.accept = DataConnection.new(Thread.current[:relay].connect)
    def self.close = nil
  end

  def windows? = false

  def sleep(seconds) = Thread.current[:relay]&.pause(seconds) || super

  def create_ftp_server(*)
    listener = ::TCPServer.new(SERVER_ADDR, 0)
    listener.define_singleton_method(:port) { addr[1] }
    server = Server.new(protocol: "ftp", users: { "foo" => { password: "bar", account: "baz" } })
    @thread = Thread.start do
      client = listener.accept
      client.setsockopt(Socket::SOL_SOCKET, Socket::SO_OOBINLINE, 1)
      relay = Thread.current[:relay] = Relay.new(client, server)
      yield relay
      relay.respond
      client.shutdown(Socket::SHUT_WR)
      client.read
    rescue Errno::EPIPE, Errno::ECONNRESET, Errno::ENOTCONN
      nil # the client has gone, as in the tests of time limits
    ensure
      client&.close
      server.close
    end
    listener
  end
end

tls = "their server does TLS itself, with a certificate that the test trusts"
skipped = {
  "test_abort_tls" => tls,
  "test_active_clear_data_connection" => tls,
  "test_active_private_data_connection" => tls,
  "test_getmultiline" => "their server writes replies that no command has asked for",
  "test_passive_clear_data_connection" => tls,
  "test_passive_private_data_connection" => tls,
  "test_tls_connect_timeout" => tls,
  "test_tls_post_connection_check" => tls,
  "test_tls_unknown_ca" => tls,
  "test_tls_verify_none" => tls,
  "test_tls_with_ca_file" => tls,
  "test_use_pasv_invalid_ip" => "the test server does not say 999.0.0.1, which is no address"
}

FTPTest.suite.tests.each do |test|
  name = test.method_name
  if (why = skipped[name])
    puts "skip #{name}: #{why}"
    next
  end
  $exceeded = name.end_with?("timeout_exceeded")
  result = Test::Unit::TestResult.new
  test.run(result) {}
  puts result.passed? ? "ok #{name}" : "FAIL #{name}\n#{result.faults.map(&:long_display).join("\n")}"
  $stdout.flush
end
