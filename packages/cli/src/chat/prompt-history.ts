import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateFolder, writeOwnFile } from '@tandem/client/node';

/** What was typed in earlier chats; a line of the file is one text as JSON. */
export interface PromptHistory {
  readonly texts: readonly string[];
  /** Keeps a text, unless it begins with a space. Never throws: a disk that is full must not end a chat. */
  add(text: string): void;
}

const KEPT = 500;
/** Longer ones were pasted; nobody looks for them here. */
const TEXT_CHARACTERS = 10_000;

/** Opens the history of this user. */
export function openPromptHistory(file = join(stateFolder(), 'prompts.jsonl')): PromptHistory {
  const texts = readTexts(file);
  return {
    texts,
    add(text) {
      if (text.trim() === '' || text.startsWith(' ') || text.length > TEXT_CHARACTERS) return;
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
      } catch {
        // it is a comfort; without it Up brings back what was typed in this chat
      }
    },
  };
}

function readTexts(file: string): string[] {
  let lines: string[];
  try {
    lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return []; // there is none yet, or it cannot be read: then this chat begins one
  }
  if (lines.length > 2 * KEPT) {
    lines = lines.slice(-KEPT);
    try {
      writeOwnFile(file, `${lines.join('\n')}\n`);
    } catch {
      // it stays as long as it is
    }
  }
  return lines.slice(-KEPT).flatMap(line => {
    try {
      const text: unknown = JSON.parse(line);
      return typeof text === 'string' ? [text] : [];
    } catch {
      return []; // a line that another process was writing
    }
  });
}
