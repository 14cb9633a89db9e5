# Made by dev/release/build; the tap's copy is replaced with each release.
class Fetch1738 < Formula
  desc "Fetches ftp, gopher, news, wais and the other URLs of RFC 1738"
  homepage "https://github.com/fetch1738/fetch1738"
  version "0.1.0"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/fetch1738/fetch1738/releases/download/v0.1.0/fetch1738_0.1.0_darwin_arm64.tar.gz"
      sha256 "1a86efa704f17eb94430b0fde139601fa488f634d94f418fb85e025d4c74be76"
    end
    on_intel do
      url "https://github.com/fetch1738/fetch1738/releases/download/v0.1.0/fetch1738_0.1.0_darwin_amd64.tar.gz"
      sha256 "e76672cbc2b1719ef3b27338eaa4a348679ebb882dca6e86775cfcd27d0a3993"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/fetch1738/fetch1738/releases/download/v0.1.0/fetch1738_0.1.0_linux_arm64.tar.gz"
      sha256 "88ab93cf1421c7f9eda213a00fa6b5d23e8d84bf46291763347769744dee771c"
    end
    on_intel do
      url "https://github.com/fetch1738/fetch1738/releases/download/v0.1.0/fetch1738_0.1.0_linux_amd64.tar.gz"
      sha256 "a1a6a0b73db113b8df0dc4b02772e9b8483b59b3fa11b86c2b6970d99d5df8e7"
    end
  end

  def install
    bin.install "fetch1738"
    man1.install "fetch1738.1"
    bash_completion.install "completions/fetch1738.bash" => "fetch1738"
    zsh_completion.install "completions/_fetch1738"
    fish_completion.install "completions/fetch1738.fish"
    doc.install "docs", "THIRD-PARTY-LICENSES.txt"
  end

  test do
    system bin/"fetch1738", "demo"
  end
end
