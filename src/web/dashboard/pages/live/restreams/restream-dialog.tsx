import { useState } from 'preact/hooks';
import { t } from '../../../texts/live.ts';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { FieldValues } from '../../../ui/form/form-context.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import {
  type Destination,
  formatRendition,
  isReconnecting,
  knownDestinations,
  type Rendition,
} from './restream-labels.ts';

type Known = (typeof knownDestinations)[number][0] | 'other';

/** Returns `streamKey` for `restreams[2][streamKey]`. */
const partOf = (attribute: string) => attribute.replace(/^restreams\[\d+\]\[(\w+)\]$/, '$1');

export function RestreamDialog({
  before,
  isLive,
  renditions,
  save,
  onClose,
}: {
  before: Destination | undefined;
  isLive: boolean;
  renditions: readonly Rendition[];
  save: (destination: Destination) => Promise<void>;
  onClose: () => void;
}) {
  const [destination, setDestination] = useState<Destination>(
    before ?? { name: '', serverUrl: '', streamKey: '' },
  );
  const { name, serverUrl, streamKey, rendition = 'source' } = destination;
  const trimmed = {
    ...destination,
    name: name.trim(),
    serverUrl: serverUrl.trim(),
    streamKey: streamKey.trim(),
  };
  const submission = useSubmit(async () => {
    await save(trimmed);
    onClose();
  }, partOf);
  const change = (changes: Partial<Destination>) => setDestination({ ...destination, ...changes });
  const known = knownDestinations.find(([, , url]) => url === serverUrl);
  const isComplete = [trimmed.name, trimmed.serverUrl, trimmed.streamKey].every(text => text !== '');
  const isMissing = !renditions.includes(rendition);
  return (
    <FormDialog
      title={before === undefined ? t('restreams.add') : t('restreams.editTitle')}
      action={before === undefined ? t('restreams.addAction') : t('source.save')}
      disabled={!isComplete}
      submission={submission}
      onClose={onClose}
    >
      <SelectField<Known>
        label={t('restreams.service')}
        value={known?.[0] ?? 'other'}
        onValue={id => {
          const chosen = knownDestinations.find(([one]) => one === id);
          if (chosen === undefined) return change({ serverUrl: '' });
          const [, service, url] = chosen;
          change({ serverUrl: url, ...(trimmed.name === '' ? { name: service } : {}) });
        }}
        options={[
          ...knownDestinations.map(([id, label]) => [id, label] as const),
          ['other', t('restreams.other')],
        ]}
      />
      <FieldValues values={destination} onValues={setDestination}>
        <TextField
          label={t('streams.nameLabel')}
          hint={t('restreams.nameHint')}
          field="name"
          maxLength={2048}
          required
        />
        <TextField
          label={t('restreams.serverUrl')}
          hint={t('restreams.serverUrlHint')}
          field="serverUrl"
          spellcheck={false}
          maxLength={2048}
          required
        />
        <TextField
          label={t('streams.streamKey')}
          type="password"
          hint={t('restreams.keyHint')}
          autocomplete="new-password"
          field="streamKey"
          maxLength={2048}
          required
        />
      </FieldValues>
      {(renditions.length > 1 || isMissing) && (
        <SelectField<Rendition>
          label={t('restreams.rendition')}
          hint={isMissing ? t('restreams.renditionMissing') : t('restreams.renditionHint')}
          value={rendition}
          onValue={chosen => change({ rendition: chosen })}
          field="rendition"
          options={(isMissing ? [...renditions, rendition] : renditions).map(
            one => [one, one === 'source' ? t('restreams.sourceFromEncoder') : formatRendition(one)] as const,
          )}
        />
      )}
      {isLive && before !== undefined && isReconnecting(before, trimmed) && (
        <Notice tone="warning">{t('restreams.interrupts', { name: before.name })}</Notice>
      )}
    </FormDialog>
  );
}
