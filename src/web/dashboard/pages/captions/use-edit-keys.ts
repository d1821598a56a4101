import { useEffect, useRef } from 'preact/hooks';
import { type EditKey, editKeyOf } from './edit-keys.ts';

/**
 * Hears the keys anywhere on the page, except in dialogs. Without an action, a key does what it always does.
 *
 * @param root fields outside of it keep their own undo
 */
export function useEditKeys(
  root: { readonly current: Element | null },
  actions: Partial<Record<EditKey, (target: Element) => void>>,
): void {
  const newest = useRef(actions);
  newest.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const key = editKeyOf(event);
      const action = key && newest.current[key];
      const target = event.target instanceof Element ? event.target : document.body;
      const isElsewhere =
        !root.current?.contains(target) && target.closest('input, textarea, dialog') !== null;
      if (action === undefined || isElsewhere || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      action(target);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
