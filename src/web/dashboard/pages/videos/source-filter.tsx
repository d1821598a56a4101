import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { FilterPopover, RadioList } from '../../ui/filter-popover.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { LoadedContent } from '../../ui/states.tsx';

const kinds: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'Any source'],
  ['upload', 'Uploads'],
  ['recording', 'Recordings'],
];
const searchFrom = 8;

/** Chooses uploads, recordings, or the recordings of one live stream. */
export function SourceFilter({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}) {
  const label = kinds.find(([kind]) => kind === value)?.[1];
  const liveStreamId = value !== undefined && label === undefined ? value : undefined;
  const name = useLoad(`name of ${liveStreamId}`, async signal =>
    liveStreamId === undefined
      ? undefined
      : (await call('GET /live-streams/{liveStreamId}', { params: { liveStreamId }, signal })).name,
  );
  const streamName = name.problem?.status === 404 ? 'Deleted live stream' : (name.value ?? 'Live stream');
  return (
    <FilterPopover
      legend="Filter by source"
      label={value === undefined ? 'Source' : (label ?? streamName)}
      isActive={value !== undefined}
    >
      {close => (
        <>
          <RadioList name="Source" value={value} options={kinds} onValue={onValue} onDone={close} />
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
      query: { name: search.trim() || undefined, sortBy: 'name', sortOrder: 'asc', pageSize: 50 },
      signal,
    }),
  );
  const total = loaded.value?.pagination.itemsTotal ?? 0;
  if (total === 0 && search === '') return null;
  return (
    <div class="filter-streams">
      <p class="filter-heading">Recordings of a live stream</p>
      {(search !== '' || total >= searchFrom) && (
        <TextField
          label="Search live streams"
          hideLabel
          type="search"
          placeholder="Search live streams"
          value={search}
          onValue={setSearch}
        />
      )}
      <LoadedContent loaded={loaded} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">No results.</p>
          ) : (
            <RadioList
              name="Source"
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
