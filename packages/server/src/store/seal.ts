import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encryption of data at rest with the key that its client sent (R9): AES-256-GCM, 12 bytes nonce, 16 bytes tag, then data. */
const NONCE = 12;
const TAG = 16;

export function sealBytes(key: Uint8Array, data: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(data), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** The data, or undefined when it was sealed with another key or was changed. */
export function openBytes(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
  decipher.setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]);
  } catch {
    return undefined; // the tag does not fit: another key, which is the same as not having the data
  }
}
