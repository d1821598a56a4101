import { shortcuts } from './edit-keys.ts';

export function ShortcutList() {
  return (
    <details class="shortcuts">
      <summary>Keyboard shortcuts</summary>
      <dl>
        {shortcuts.map(([keys, action]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
