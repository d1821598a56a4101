export interface CopyProgress {
  begin(title: string, bytes: number): void;
  add(bytes: number): void;
  end(): void;
}

/** Of one folder of the data folder. */
export interface CopiedFolder {
  readonly folder: string;
  files: number;
  bytes: number;
}

const maxParallelFiles = 4;

export function countByFolder(
  files: Iterable<{ readonly name: string; readonly bytes: number }>,
): CopiedFolder[] {
  const folders = new Map<string, CopiedFolder>();
  for (const { name, bytes } of files) {
    const folder = name.slice(0, name.indexOf('/'));
    const counted = folders.get(folder) ?? { folder, files: 0, bytes: 0 };
    counted.files += 1;
    counted.bytes += bytes;
    folders.set(folder, counted);
  }
  return [...folders.values()].sort((one, other) => one.folder.localeCompare(other.folder));
}

/** Works on a few files at a time. The first error stops the others, and is thrown once they have ended. */
export async function forEachFile<File>(
  files: readonly File[],
  signal: AbortSignal,
  work: (file: File, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const waiting = files.values();
  const workers = Array.from({ length: maxParallelFiles }, async () => {
    try {
      for (const file of waiting) {
        stop.throwIfAborted();
        await work(file, stop);
      }
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(workers);
  signal.throwIfAborted();
  await Promise.all(workers);
}
