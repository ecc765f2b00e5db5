/** One change of a file that an executor is about to make, told before it is made. */
export interface FileChange {
  /** The real path. */
  path: string;
  /** What is there now; absent for a new file. */
  before?: Uint8Array;
  /** The permission bits of what is there now. */
  mode?: number;
  /** What will be there; absent when it is deleted. */
  after?: Uint8Array;
}

/** Is told of each change before it is made. When it rejects, the change is made all the same: a full disk of ours must not stop the work. */
export type OnFileChange = (change: FileChange) => Promise<void>;
