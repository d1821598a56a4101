import { useState } from 'preact/hooks';
import type { Size } from '../../../../shared/limits/watermark-placement.ts';
import type { Watermark } from '../../api/api-types.ts';
import { can } from '../../state/session.ts';
import { rich, t } from '../../texts/players.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { relativeTime } from '../../ui/relative-time.tsx';
import { WatermarkImage } from './watermark-image.tsx';
import { watermarkName } from './watermark-name.ts';

export function WatermarkTile({
  watermark,
  isPlaced,
  onPlace,
  onRename,
  onDelete,
}: {
  watermark: Watermark;
  isPlaced: boolean;
  onPlace: () => void;
  onRename: () => void;
  onDelete: () => void;
}) {
  const { watermarkId, createdAt } = watermark;
  const [size, setSize] = useState<Size>();
  const name = watermarkName(watermark);
  return (
    <li class={`watermark-tile${isPlaced ? ' chosen' : ''}`}>
      <WatermarkImage watermarkId={watermarkId} onSize={setSize} />
      <p class="watermark-facts">
        <bdi title={watermarkId}>{name}</bdi>
        <span class="quiet">
          {size === undefined
            ? rich('watermarks.uploaded', {}, relativeTime(createdAt))
            : rich(
                'watermarks.sizeAndTime',
                { width: String(size.width), height: String(size.height) },
                relativeTime(createdAt),
              )}
        </span>
      </p>
      <div class="actions-of-row">
        <Button small pressed={isPlaced} label={t('watermarks.placeLabel', { name })} onClick={onPlace}>
          {t('watermarks.place')}
        </Button>
        <IconButton
          icon="copy"
          label={t('watermarks.copyLabel', { name })}
          onClick={() => void copyText(watermarkId, t('watermarks.id'))}
        />
        {can('upload') && (
          <>
            <IconButton icon="edit" label={t('watermarks.renameLabel', { name })} onClick={onRename} />
            <IconButton
              danger
              icon="trash"
              label={t('watermarks.deleteLabel', { name })}
              onClick={onDelete}
            />
          </>
        )}
      </div>
    </li>
  );
}
