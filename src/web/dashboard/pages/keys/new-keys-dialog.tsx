import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { kindNames, type NewKeys, nameOf } from './key-pair.ts';

export function NewKeysDialog({ made, onClose }: { made: NewKeys; onClose: () => void }) {
  const [, key] = made.keys[0]!;
  const command = `curl -u ${key}: ${location.origin}/live-streams`;
  const isOne = made.keys.length === 1;
  return (
    <Dialog title={isOne ? 'Your new key' : `Your new keys: ${nameOf(made.pair)}`} onClose={onClose}>
      <div class="dialog-body">
        <Notice tone="warning" title={isOne ? 'Copy it now.' : 'Copy them now.'}>
          {isOne ? 'It is' : 'They are'} shown only this once: the server itself does not keep{' '}
          {isOne ? 'it' : 'them'}.
        </Notice>
        {made.keys.map(([kind, text]) => (
          <CopyField key={kind} label={`${kindNames[kind]} key`} value={text} />
        ))}
        <CodeSample label="Try it from a terminal" text={command} />
      </div>
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
