/** A file that is open for reading, in the data folder or in object storage. `FileHandle` has this shape. */
export interface OpenedFile {
  /** Fewer bytes than asked for do not mean the end; 0 does. */
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** @throws Error with the code `ENOENT` when it is missing */
export type OpenFile = (path: string) => Promise<OpenedFile>;
