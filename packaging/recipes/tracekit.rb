# A formula for Homebrew, filled in by `make dist`: OWNER is the owner of the repository that publishes the release.
class Tracekit < Formula
  desc "Converts, merges, filters, shrinks and queries profiler traces"
  homepage "https://github.com/OWNER/tracekit"
  url "https://github.com/OWNER/tracekit/releases/download/v@VERSION@/tracekit-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "make" => :build
  depends_on "pkgconf" => :build
  depends_on "isa-l"
  depends_on "libarchive"
  depends_on "pcre2"
  depends_on "protobuf-c"
  depends_on "sqlite"
  depends_on "zstd"

  uses_from_macos "libedit"
  uses_from_macos "zlib"

  def install
    system "gmake", "install", "PREFIX=#{prefix}"
  end

  test do
    (testpath/"a.json").write '[{"ph":"X","name":"work","pid":1,"tid":1,"ts":1,"dur":2}]'
    assert_match "1 spans", shell_output("#{bin}/tracekit info a.json")
  end
end
