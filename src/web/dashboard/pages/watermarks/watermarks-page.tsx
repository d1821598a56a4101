import { useState } from 'preact/hooks';
import type { Watermark } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { shortId } from '../../format/short-id.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/players.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page, Section } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { PlacementCard } from './placement-card.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { UploadDialog } from './upload-dialog.tsx';
import { WatermarkImage } from './watermark-image.tsx';
import { WatermarkTile } from './watermark-tile.tsx';

const pageSize = 12;

type Opened = { readonly kind: 'rename' | 'delete'; readonly watermark: Watermark };

export function WatermarksPage() {
  const { query, change } = useQuery();
  const [isUploading, setUploading] = useNewDialog();
  const [opened, setOpened] = useState<Opened>();
  const page = pageOf(query);
  const loaded = useLoad(String(page), signal =>
    call('GET /watermarks', {
      query: { sortBy: 'createdAt', sortOrder: 'desc', currentPage: page, pageSize },
      signal,
    }),
  );
  const shown = loaded.value?.data ?? [];
  const placed = shown.find(({ watermarkId }) => watermarkId === query.place) ?? shown[0];
  const close = () => setOpened(undefined);
  const place = (watermarkId: string | undefined) => change({ place: watermarkId });
  return (
    <Page
      title={t('watermarks.title')}
      lead={t('watermarks.lead')}
      actions={
        can('upload') && (
          <Button kind="primary" icon="plus" onClick={() => setUploading(true)}>
            {t('watermarks.new')}
          </Button>
        )
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={220}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="stamp" title={t('watermarks.emptyTitle')}>
                {can('upload') && t('watermarks.emptyText')}
              </EmptyState>
            ) : (
              <>
                <ul class="watermarks">
                  {data.map(watermark => (
                    <WatermarkTile
                      key={watermark.watermarkId}
                      watermark={watermark}
                      isPlaced={watermark === placed}
                      onPlace={() => place(watermark.watermarkId)}
                      onRename={() => setOpened({ kind: 'rename', watermark })}
                      onDelete={() => setOpened({ kind: 'delete', watermark })}
                    />
                  ))}
                </ul>
                <Pagination
                  pagination={pagination}
                  what="watermarks"
                  onPage={next => change({ page: next === 1 ? undefined : String(next), place: undefined })}
                />
              </>
            )
          }
        </LoadedContent>
      </Section>
      {placed !== undefined && <PlacementCard key={placed.watermarkId} watermark={placed} />}
      {isUploading && can('upload') && (
        <UploadDialog
          onClose={() => setUploading(false)}
          onMade={() => {
            setUploading(false);
            change({ page: undefined, place: undefined });
            loaded.reload();
          }}
        />
      )}
      {opened?.kind === 'rename' && (
        <RenameDialog
          watermark={opened.watermark}
          onClose={close}
          onRenamed={() => {
            close();
            loaded.reload();
          }}
        />
      )}
      {opened?.kind === 'delete' && (
        <DeleteWatermark
          watermark={opened.watermark}
          onClose={close}
          onDeleted={() => {
            place(undefined);
            loaded.reload();
          }}
        />
      )}
    </Page>
  );
}

function DeleteWatermark({
  watermark: { watermarkId, name },
  onDeleted,
  onClose,
}: {
  watermark: Watermark;
  onDeleted: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={t('watermarks.deleteTitle')}
      action={t('watermarks.delete')}
      name={name ?? shortId(watermarkId)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /watermarks/{watermarkId}', { params: { watermarkId } });
        showToast(t('watermarks.deleted'));
        onDeleted();
      }}
    >
      <WatermarkImage watermarkId={watermarkId} />
      <p>{t('watermarks.deleteText')}</p>
    </ConfirmDialog>
  );
}
