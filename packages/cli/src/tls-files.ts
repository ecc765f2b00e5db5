import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The certificate chain and key of `--tls-cert` and `--tls-key`, as PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads and checks what TLS needs, so that a wrong file is told at start and not at the first handshake.
 * @throws Error whose message names the flag, the file and how to mend it; the key's text is never in it.
 */
export function readTlsFiles(
  options: { tlsCert?: string | undefined; tlsKey?: string | undefined },
  cwd: string,
): TlsFiles | undefined {
  const { tlsCert, tlsKey } = options;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error(
      `--tls-cert and --tls-key go together: give ${tlsCert === undefined ? '--tls-cert' : '--tls-key'} too.`,
    );
  }
  const cert = readPem('--tls-cert', tlsCert, cwd);
  const key = readPem('--tls-key', tlsKey, cwd);
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    throw new Error(`--tls-cert ${tlsCert} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`);
  }
  let fits: boolean;
  try {
    fits = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new Error(`--tls-key ${tlsKey} holds no private key in PEM form without a passphrase.`);
  }
  if (!fits) throw new Error(`--tls-key ${tlsKey} is not the key of the certificate in --tls-cert ${tlsCert}.`);
  return { cert, key };
}

function readPem(flag: string, file: string, cwd: string): Buffer {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    throw new Error(`${flag} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}.`, {
      cause: error,
    });
  }
}
