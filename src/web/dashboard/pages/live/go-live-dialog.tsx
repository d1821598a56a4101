import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { t } from '../../texts/live.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { LoadedContent } from '../../ui/states.tsx';
import { SourceField } from './source-field.tsx';
import { bodyOf, MainStreamFields, newStream } from './stream-fields.tsx';

interface DialogProps {
  readonly onClose: () => void;
}

interface Way {
  readonly title: string;
  readonly lead: string;
  readonly hasSource?: true;
  readonly pathOf: (liveStreamId: string) => string;
}

const fromBrowser = (): Way => ({
  title: t('goLive.browserTitle'),
  lead: t('goLive.browserLead'),
  pathOf: id => `/dashboard/live/${id}/studio`,
});
const withEncoder = (): Way => ({
  title: t('goLive.encoderTitle'),
  lead: t('goLive.encoderLead'),
  pathOf: id => `/dashboard/live/${id}?part=set-up`,
});
const fromSource = (): Way => ({
  title: t('goLive.sourceTitle'),
  lead: t('goLive.sourceLead'),
  hasSource: true,
  pathOf: id => `/dashboard/live/${id}?part=source`,
});

export const GoLiveFromBrowser = (props: DialogProps) => <GoLiveDialog {...props} way={fromBrowser()} />;
export const GoLiveWithEncoder = (props: DialogProps) => <GoLiveDialog {...props} way={withEncoder()} />;
export const GoLiveFromSource = (props: DialogProps) => <GoLiveDialog {...props} way={fromSource()} />;

const newOne = '';

/** Opens a live stream, or creates one. */
function GoLiveDialog({ way, onClose }: DialogProps & { way: Way }) {
  const { route } = useLocation();
  const streams = useLoad(projectKey.value, async signal => {
    const query = { sortBy: 'updatedAt', sortOrder: 'desc', pageSize: 50 } as const;
    return (await call('GET /live-streams', { query, signal })).data;
  });
  const [chosen, setChosen] = useState<string>();
  const [choices, setChoices] = useState(newStream);
  const [url, setUrl] = useState('');
  const liveStreamId = chosen ?? streams.value?.[0]?.liveStreamId ?? newOne;
  const source = { url: url.trim(), enabled: true };
  const submission = useSubmit(async () => {
    const id = await prepare(liveStreamId, {
      ...(liveStreamId === newOne ? bodyOf(choices) : {}),
      ...(way.hasSource ? { source } : {}),
    });
    onClose();
    route(way.pathOf(id));
  });
  const isIncomplete =
    streams.value === undefined ||
    (liveStreamId === newOne && choices.name.trim() === '') ||
    (way.hasSource === true && source.url === '');
  return (
    <FormDialog
      title={way.title}
      action={t('goLive.continue')}
      disabled={isIncomplete}
      submission={submission}
      onClose={onClose}
    >
      <p class="quiet">{way.lead}</p>
      <LoadedContent loaded={streams} height={66}>
        {all => (
          <>
            {all.length > 0 && (
              <SelectField
                label={t('streams.one')}
                value={liveStreamId}
                onValue={setChosen}
                options={[
                  ...all.map(one => [one.liveStreamId, nameOf(one)] as const),
                  [newOne, t('streams.new')],
                ]}
              />
            )}
            {liveStreamId === newOne && <MainStreamFields choices={choices} onChoices={setChoices} />}
          </>
        )}
      </LoadedContent>
      {way.hasSource && (
        <SourceField label={t('goLive.sourceAddress')} value={url} onValue={setUrl} required />
      )}
    </FormDialog>
  );
}

type NewStream = Partial<ReturnType<typeof bodyOf>> & { source?: { url: string; enabled: boolean } };

async function prepare(liveStreamId: string, changes: NewStream): Promise<string> {
  if (liveStreamId === newOne) {
    return (await call('POST /live-streams', { body: { ...changes, name: changes.name ?? '' } }))
      .liveStreamId;
  }
  const params = { liveStreamId };
  if (changes.source !== undefined)
    await call('PATCH /live-streams/{liveStreamId}', { params, body: changes });
  return liveStreamId;
}

function nameOf({ name, broadcasting }: LiveStream): string {
  return broadcasting ? t('goLive.liveNow', { name }) : name;
}
