import { useRef, useState } from 'preact/hooks';
import type { BulkProgress } from '../../ui/bulk/bulk-bar.tsx';
import type { BulkOptions } from './discard-videos.ts';

/** Runs one piece of work with many items at a time. It ends when the page is left only if it is stopped. */
export function useBulkWork(): {
  readonly progress: BulkProgress | undefined;
  readonly run: <Result>(
    label: string,
    total: number,
    work: (options: BulkOptions) => Promise<Result>,
  ) => Promise<Result | undefined>;
} {
  const [progress, setProgress] = useState<BulkProgress>();
  const isRunning = useRef(false);
  return {
    progress,
    run: async (label, total, work) => {
      if (isRunning.current) return undefined;
      isRunning.current = true;
      const abort = new AbortController();
      const show = (finished: number) => setProgress({ label, finished, total, onStop: () => abort.abort() });
      // Few are done before anybody reads it.
      if (total > 1) show(0);
      try {
        return await work({ signal: abort.signal, onProgress: total > 1 ? show : () => undefined });
      } finally {
        isRunning.current = false;
        setProgress(undefined);
      }
    },
  };
}
