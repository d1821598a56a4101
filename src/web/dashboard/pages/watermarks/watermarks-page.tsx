import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { shortId } from '../../format/short-id.ts';
import { can } from '../../state/session.ts';
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
import { UploadDialog } from './upload-dialog.tsx';
import { WatermarkImage } from './watermark-image.tsx';
import { WatermarkTile } from './watermark-tile.tsx';

const pageSize = 12;

export function WatermarksPage() {
  const { query, change } = useQuery();
  const [isUploading, setUploading] = useNewDialog();
  const [deleting, setDeleting] = useState<string>();
  const page = pageOf(query);
  const loaded = useLoad(String(page), signal =>
    call('GET /watermarks', {
      query: { sortBy: 'createdAt', sortOrder: 'desc', currentPage: page, pageSize },
      signal,
    }),
  );
  const shown = loaded.value?.data ?? [];
  const placed = shown.find(({ watermarkId }) => watermarkId === query.place) ?? shown[0];
  const place = (watermarkId: string | undefined) => change({ place: watermarkId });
  return (
    <Page
      title="Watermarks"
      lead="An image, such as your logo, that is burned into a video when it is created."
      actions={
        can('upload') && (
          <Button kind="primary" icon="plus" onClick={() => setUploading(true)}>
            New watermark
          </Button>
        )
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={220}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <EmptyState icon="stamp" title="No watermarks yet">
                {can('upload') && 'Upload a PNG with a transparent background, and try its placement here.'}
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
                      onDelete={() => setDeleting(watermark.watermarkId)}
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
      {placed !== undefined && <PlacementCard key={placed.watermarkId} watermarkId={placed.watermarkId} />}
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
      {deleting !== undefined && (
        <DeleteWatermark
          watermarkId={deleting}
          onClose={() => setDeleting(undefined)}
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
  watermarkId,
  onDeleted,
  onClose,
}: {
  watermarkId: string;
  onDeleted: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="Delete this watermark?"
      action="Delete watermark"
      name={shortId(watermarkId)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /watermarks/{watermarkId}', { params: { watermarkId } });
        showToast('Watermark deleted.');
        onDeleted();
      }}
    >
      <WatermarkImage watermarkId={watermarkId} />
      <p>New videos can’t use it. Existing videos keep it.</p>
    </ConfirmDialog>
  );
}
