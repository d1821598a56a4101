import { Readable } from 'node:stream';

/** A file that is open for reading, in the data folder or in object storage. `FileHandle` has this shape. */
export interface OpenedFile {
  /** Reads into a buffer. Fewer bytes than requested do not mean the end; 0 does. */
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** Ends reads that are under way, or awaits them. Can be called twice. */
  close(): Promise<void>;
}

/** @throws Error with the code `ENOENT` when it is missing */
export type OpenFile = (path: string) => Promise<OpenedFile>;

/** Finished files that many read. */
export interface ReadableFiles {
  readonly open: OpenFile;
  /** Undefined when it is missing. `etag` is quoted and strong. */
  find(path: string): Promise<{ readonly bytes: number; readonly etag: string } | undefined>;
}

/** Bytes of a file, which is closed when the stream is. Fails when the file ends before `end`. */
export function streamOf(
  file: OpenedFile,
  { start, end }: { readonly start: number; readonly end: number },
): Readable {
  let position = start;
  return new Readable({
    read(bytes) {
      if (position >= end) {
        this.push(null);
        return;
      }
      const chunk = Buffer.allocUnsafe(Math.min(bytes, end - position));
      file.read(chunk, 0, chunk.length, position).then(
        ({ bytesRead }) => {
          position += bytesRead;
          if (bytesRead === 0) this.destroy(new Error(`the file ends before byte ${end}`));
          else this.push(chunk.subarray(0, bytesRead));
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        (closeError: Error) => done(error ?? closeError),
      );
    },
  });
}
