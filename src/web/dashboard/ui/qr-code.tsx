import type { encode } from 'uqr';
import { useLoad } from './hooks/use-load.ts';
import { LoadedContent } from './states.tsx';

/** Light modules around the code, which scanners need. */
const quietZone = 4;
const height = 208;

interface Text {
  readonly text: string;
  readonly label: string;
}

/** Loads the encoder when it is needed: few pages have a code. */
export function QrCode(text: Text) {
  const encoder = useLoad('', () => import('uqr'));
  return (
    <LoadedContent loaded={encoder} height={height}>
      {encoder => <Code {...text} encode={encoder.encode} />}
    </LoadedContent>
  );
}

function Code({ text, label, encode: encodeText }: Text & { encode: typeof encode }) {
  const { data, size } = encodeText(text, { border: quietZone });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={dark.join('')} shape-rendering="crispEdges" />
    </svg>
  );
}
