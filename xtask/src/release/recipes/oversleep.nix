{ lib, stdenv, fetchurl, autoPatchelfHook, installShellFiles }:

let
  sources = {
    x86_64-linux = {
      url = "@url x86_64-unknown-linux-gnu@";
      sha256 = "@sha256 x86_64-unknown-linux-gnu@";
    };
    aarch64-linux = {
      url = "@url aarch64-unknown-linux-gnu@";
      sha256 = "@sha256 aarch64-unknown-linux-gnu@";
    };
    x86_64-darwin = {
      url = "@url x86_64-apple-darwin@";
      sha256 = "@sha256 x86_64-apple-darwin@";
    };
    aarch64-darwin = {
      url = "@url aarch64-apple-darwin@";
      sha256 = "@sha256 aarch64-apple-darwin@";
    };
  };
in
stdenv.mkDerivation {
  pname = "oversleep";
  version = "@version@";

  src = fetchurl sources.${stdenv.hostPlatform.system};

  nativeBuildInputs = [ installShellFiles ] ++ lib.optional stdenv.hostPlatform.isLinux autoPatchelfHook;
  buildInputs = lib.optional stdenv.hostPlatform.isLinux stdenv.cc.cc.lib;

  installPhase = ''
    install -Dm755 oversleep $out/bin/oversleep
    installManPage man/man1/*.1
    installShellCompletion completions/oversleep.bash completions/oversleep.fish completions/_oversleep
  '';

  meta = {
    description = "Measure how late waits end, and say why";
    homepage = "@repository@";
    license = with lib.licenses; [ mit asl20 ];
    platforms = lib.attrNames sources;
    mainProgram = "oversleep";
  };
}
