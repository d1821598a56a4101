import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { t } from '../../texts/videos.ts';
import { FilterPopover, RadioList } from '../../ui/filter-popover.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { LoadedContent } from '../../ui/states.tsx';

const kinds = { upload: 'filter.uploads', recording: 'filter.recordings' } as const;
const searchFrom = 8;

/** Chooses uploads, recordings, or the recordings of one live stream. */
export function SourceFilter({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}) {
  const label = value === 'upload' || value === 'recording' ? t(kinds[value]) : undefined;
  const liveStreamId = value !== undefined && label === undefined ? value : undefined;
  const name = useLoad(`name of ${liveStreamId}`, async signal =>
    liveStreamId === undefined
      ? undefined
      : (await call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal })).name,
  );
  const streamName =
    name.problem?.status === 404 ? t('filter.deletedStream') : (name.value ?? t('filter.stream'));
  return (
    <FilterPopover
      legend={t('filter.bySource')}
      label={value === undefined ? t('filter.source') : (label ?? streamName)}
      isActive={value !== undefined}
    >
      {close => (
        <>
          <RadioList
            name={t('filter.source')}
            value={value}
            options={[
              [undefined, t('filter.anySource')],
              ['upload', t(kinds.upload)],
              ['recording', t(kinds.recording)],
            ]}
            onValue={onValue}
            onDone={close}
          />
          <StreamList value={value} onValue={onValue} onDone={close} />
        </>
      )}
    </FilterPopover>
  );
}

function StreamList({
  value,
  onValue,
  onDone,
}: {
  value: string | undefined;
  onValue: (value: string | undefined) => void;
  onDone: () => void;
}) {
  const [search, setSearch] = useState('');
  const loaded = useLoad(`live streams ${search}`, signal =>
    call('GET /live-streams', {
      query: { name: search || undefined, sortBy: 'name', sortOrder: 'asc', pageSize: 50 },
      signal,
    }),
  );
  const total = loaded.value?.pagination.itemsTotal ?? 0;
  if (total === 0 && search === '') return null;
  return (
    <div class="filter-streams">
      <p class="filter-heading">{t('filter.streamRecordings')}</p>
      {(search !== '' || total >= searchFrom) && (
        <SearchField label={t('filter.searchStreams')} search={search} onSearch={setSearch} />
      )}
      <LoadedContent loaded={loaded} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{t('filter.noResults')}</p>
          ) : (
            <RadioList
              name={t('filter.source')}
              value={value}
              options={data.map(stream => [stream.liveStreamId, stream.name] as const)}
              onValue={onValue}
              onDone={onDone}
            />
          )
        }
      </LoadedContent>
    </div>
  );
}
