/** How a text file stands on disk. On the wire text is LF without byte order mark, always (R31). */
export interface TextForm {
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';
  bom: boolean;
  lineEnd: '\n' | '\r\n';
}

/** The form of a new file. */
export const PLAIN_FORM: TextForm = { encoding: 'utf-8', bom: false, lineEnd: '\n' };

/** Bytes looked at for a NUL, which no text has. */
const LOOKED_AT = 8 * 1024;

/**
 * A file's bytes as text of the wire, with the form to write it back in; undefined when they are no text. Bytes that are neither UTF-8 nor
 * marked as UTF-16 are taken as Latin-1, in which every byte is a character: what was not touched goes back as it was.
 */
export function decodeText(bytes: Uint8Array): { text: string; form: TextForm } | undefined {
  const { encoding, bomLength } = detectEncoding(bytes);
  if (!encoding.startsWith('utf-16') && bytes.subarray(0, LOOKED_AT).includes(0)) return undefined;
  let text: string;
  let taken: TextForm['encoding'] = encoding;
  const body = bytes.subarray(bomLength);
  try {
    text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    if (bomLength > 0) return undefined; // it claims an encoding that it does not keep
    taken = 'latin1';
    text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  }
  const crlf = text.split('\r\n').length - 1;
  const lineEnd = crlf > 0 && crlf * 2 >= text.split('\n').length - 1 ? '\r\n' : '\n';
  return { text: text.replaceAll('\r\n', '\n'), form: { encoding: taken, bom: bomLength > 0, lineEnd } };
}

/** Text of the wire as bytes of a file in the given form. What the form's encoding cannot hold makes it UTF-8. */
export function encodeText(text: string, form: TextForm): Uint8Array {
  const onDisk = form.lineEnd === '\r\n' ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text;
  if (form.encoding === 'latin1') {
    return Buffer.from(onDisk, /[\u0100-\uffff]/.test(onDisk) ? 'utf8' : 'latin1');
  }
  const marked = form.bom && !onDisk.startsWith('\ufeff') ? `\ufeff${onDisk}` : onDisk;
  if (form.encoding === 'utf-8') return Buffer.from(marked, 'utf8');
  const bytes = Buffer.from(marked, 'utf16le');
  return form.encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

function detectEncoding(bytes: Uint8Array): { encoding: 'utf-8' | 'utf-16le' | 'utf-16be'; bomLength: number } {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf-8', bomLength: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', bomLength: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', bomLength: 2 };
  return { encoding: 'utf-8', bomLength: 0 };
}

/** The image type that the first bytes tell; undefined when they are no image that models take. */
export function imageType(bytes: Uint8Array): 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  return undefined;
}

/** Whether the first bytes are those of a PDF. Some of these are free of NULs, and would pass for text. */
export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';
}
