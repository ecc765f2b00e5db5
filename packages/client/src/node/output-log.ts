import { closeSync, readFileSync, writeSync } from 'node:fs';
import type { TerminalFolder } from './terminal-folder.ts';

/** Longest output kept in a file. A command that prints without end must not fill the disk. */
const FILE_CAP = 1024 * 1024 * 1024;

/**
 * All that a command printed: in memory while it is short, in a file of the terminal folder beyond. When the command goes to the
 * background, everything moves to its terminal file, and what follows is written there as it comes.
 */
export class OutputLog {
  /** Bytes printed so far. */
  bytes = 0;
  private lines = 0;
  private readonly folder: TerminalFolder;
  private readonly keptInMemory: number;
  private memory: Buffer[] = [];
  private file: { path: string; descriptor: number } | undefined;
  private written = 0;
  private failed = false;
  private closed = false;

  constructor(folder: TerminalFolder, keptInMemory: number) {
    this.folder = folder;
    this.keptInMemory = keptInMemory;
  }

  /**
   * Takes what was printed; after `close` nothing more, since what a command left behind may print on for ever. True when it holds on to the
   * chunk itself.
   */
  write(chunk: Buffer): boolean {
    if (this.closed) return false;
    this.bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) this.lines++;
    if (this.file === undefined && this.bytes <= this.keptInMemory) {
      this.memory.push(chunk);
      return true;
    }
    if (this.failed) return false;
    this.file ??= this.spill();
    this.append(chunk);
    return false;
  }

  /** Where the whole output is, when it was too long for memory; undefined else, also when no file could be written. */
  location(): { filePath: string; sizeBytes: bigint; lineCount: bigint } | undefined {
    if (this.file === undefined || this.failed) return undefined;
    return { filePath: this.file.path, sizeBytes: BigInt(this.bytes), lineCount: BigInt(this.lines) };
  }

  /** Moves everything to the file of a shell in the background, below its header. */
  moveTo(file: { path: string; descriptor: number }, header: string): void {
    const before = this.file === undefined ? Buffer.concat(this.memory) : readFileSync(this.file.path);
    const old = this.file;
    this.memory = [];
    this.file = file;
    this.append(Buffer.from(header));
    this.append(before);
    if (old !== undefined) this.folder.discard(old);
  }

  /** Writes the last words and closes the file. */
  close(footer = ''): void {
    if (this.closed) return;
    this.closed = true;
    if (this.file === undefined) return;
    if (footer !== '') this.append(Buffer.from(footer), true);
    closeSync(this.file.descriptor);
  }

  private spill(): { path: string; descriptor: number } | undefined {
    try {
      const file = this.folder.open('output');
      this.file = file;
      for (const chunk of this.memory) this.append(chunk);
      this.memory = [];
      return file;
    } catch {
      // No place on disk: the answer then holds the head only, and names no file.
      this.failed = true;
      this.memory = [];
      return undefined;
    }
  }

  private append(chunk: Buffer, always = false): void {
    if (this.file === undefined || this.failed) return;
    if (this.written + chunk.length > FILE_CAP && !always) return;
    try {
      // Written at once: the process that asks for the file next must find everything in it.
      for (let at = 0; at < chunk.length;) at += writeSync(this.file.descriptor, chunk, at);
      this.written += chunk.length;
    } catch {
      this.failed = true; // the disk is full; the command itself goes on
    }
  }
}
