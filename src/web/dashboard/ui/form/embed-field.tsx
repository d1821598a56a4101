import { useState } from 'preact/hooks';
import { type EmbeddedPlayer, type EmbedKind, embedCode, fixedSize } from '../../format/embed-code.ts';
import { t } from '../../texts/shell.ts';
import { CopyField } from '../copy.tsx';
import { SelectField } from './field.tsx';

export function EmbedField({ player }: { player: EmbeddedPlayer }) {
  const [kind, setKind] = useState<EmbedKind>('responsive');
  const { width, height } = fixedSize(player);
  return (
    <>
      <SelectField
        label={t('embed.kind')}
        value={kind}
        onValue={setKind}
        options={[
          ['responsive', t('embed.responsive')],
          ['fixed', t('embed.fixed', { width, height })],
          ['element', t('embed.element')],
        ]}
      />
      <CopyField label={t('embed.code')} value={embedCode(player, kind)} hint={t('embed.hint')} />
    </>
  );
}
