import { useState } from 'preact/hooks';
import type { Watermark } from '../../api/api-types.ts';
import { shortId } from '../../format/short-id.ts';
import { can } from '../../state/session.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { Size } from './placement.ts';
import { WatermarkImage } from './watermark-image.tsx';

export function WatermarkTile({
  watermark: { watermarkId, createdAt },
  isPlaced,
  onPlace,
  onDelete,
}: {
  watermark: Watermark;
  isPlaced: boolean;
  onPlace: () => void;
  onDelete: () => void;
}) {
  const [size, setSize] = useState<Size>();
  const ending = shortId(watermarkId);
  return (
    <li class={`watermark-tile${isPlaced ? ' chosen' : ''}`}>
      <WatermarkImage watermarkId={watermarkId} onSize={setSize} />
      <p class="watermark-facts">
        <code title={watermarkId}>…{ending}</code>
        <span class="quiet">
          {size === undefined ? 'Uploaded ' : `${size.width} × ${size.height}, `}
          <RelativeTime time={createdAt} />
        </span>
      </p>
      <div class="actions-of-row">
        <Button small pressed={isPlaced} label={`Place watermark ${ending}`} onClick={onPlace}>
          Place
        </Button>
        <IconButton
          icon="copy"
          label={`Copy ID of watermark ${ending}`}
          onClick={() => void copyText(watermarkId, 'ID')}
        />
        {can('upload') && (
          <IconButton danger icon="trash" label={`Delete watermark ${ending}`} onClick={onDelete} />
        )}
      </div>
    </li>
  );
}
