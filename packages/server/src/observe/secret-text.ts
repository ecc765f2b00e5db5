/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';

/** Shorter values are words such as `none` or `ollama` that people put in the place of a key. */
const SHORTEST_SECRET = 8;

const PATTERNS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|key|hf|nvapi|glpat|ghp|gho|github_pat)[-_][A-Za-z0-9*._-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g,
  /(?<=\bBearer\s+)[^\s"',;]+/gi,
  /(?<=\/\/)[^\s/:@]+:[^\s/@]+(?=@)/g,
  /(?<=\b(?:api[-_]?key|access[-_]?token|password|secret)["']?\s*[=:]\s*["']?)[^\s"'&,;]{4,}/gi,
];

/** A text without the given secrets, and without anything that looks like a key, a token or a password. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) clean = clean.replaceAll(secret, REDACTED);
  }
  for (const pattern of PATTERNS) clean = clean.replace(pattern, REDACTED);
  return clean;
}

/** The beginning of a secret that is short enough to be a word. */
const SHORTEST_BEGINNING = 4;

/** The same of a text that may have been cut in the middle of a secret: what it ends with of one goes too (F88). */
export function redactCutText(text: string, secrets: readonly string[] = []): string {
  let clean = redactText(text, secrets);
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    for (let length = secret.length - 1; length >= SHORTEST_BEGINNING; length--) {
      if (clean.endsWith(secret.slice(0, length))) clean = clean.slice(0, -length) + REDACTED;
    }
  }
  return clean;
}
