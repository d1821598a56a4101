import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';

/** An address of a file in memory, for as long as it is shown; undefined before there is one. */
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

/** The image of a watermark as an address that can be shown. An `<img>` alone could not say which environment it is of. */
export function useWatermarkImage(watermarkId: string): {
  readonly url: string | undefined;
  readonly problem: ApiProblem | undefined;
} {
  const { value, problem } = useLoad(watermarkId, signal =>
    call('GET /watermarks/{watermarkId}/image', { params: { watermarkId }, signal }),
  );
  return { url: useObjectUrl(value), problem };
}
