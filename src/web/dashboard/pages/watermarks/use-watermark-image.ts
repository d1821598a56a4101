import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';

export function useObjectUrl(file: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (file === undefined) {
      setUrl(undefined);
      return;
    }
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

/** Loads the image with the environment header, which an `<img>` cannot send. */
export function useWatermarkImage(watermarkId: string): {
  readonly url: string | undefined;
  readonly problem: ApiProblem | undefined;
} {
  const { value, problem } = useLoad(watermarkId, signal =>
    call('GET /watermarks/{watermarkId}/image', { params: { watermarkId }, signal }),
  );
  return { url: useObjectUrl(value), problem };
}
