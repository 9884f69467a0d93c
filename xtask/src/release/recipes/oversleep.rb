class Oversleep < Formula
  desc "Measure how late waits end, and say why"
  homepage "@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@url aarch64-apple-darwin@"
      sha256 "@sha256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@url x86_64-apple-darwin@"
      sha256 "@sha256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@url aarch64-unknown-linux-gnu@"
      sha256 "@sha256 aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@url x86_64-unknown-linux-gnu@"
      sha256 "@sha256 x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "oversleep"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/oversleep.bash" => "oversleep"
    zsh_completion.install "completions/_oversleep"
    fish_completion.install "completions/oversleep.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/oversleep --version")
  end
end
