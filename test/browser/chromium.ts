import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';

/** What Chromium is called, from system to system. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The path of a Chromium on this machine: what `CHROMIUM` names, else one on PATH. Undefined when there is none.
 * @throws when `CHROMIUM` names what is not there, so that whoever asks for it does not get a run without it.
 */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const named = process.env['CHROMIUM'];
  if (named) {
    const path = [named, ...folders.map(folder => join(folder, named))].find(one => existsSync(one));
    if (path === undefined) throw new Error(`CHROMIUM names ${named}, which is neither a file nor on PATH`);
    return path;
  }
  return NAMES.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path));
}

/** Starts it without a window. Its sandbox needs a user other than root. */
export async function startChromium(executablePath: string): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}
