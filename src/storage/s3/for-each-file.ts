const maxParallelFiles = 4;

/** Works on a few files at a time. The first error stops the others, and is thrown once they have ended. */
export async function forEachFile<File>(
  files: readonly File[],
  signal: AbortSignal | undefined,
  work: (file: File, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const stop = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
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
  signal?.throwIfAborted();
  await Promise.all(workers);
}
