import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';

export function EditButton({
  buttonRef,
  what,
  onClick,
}: {
  buttonRef: RefObject<HTMLButtonElement | null>;
  what: string;
  onClick: () => void;
}) {
  return (
    <Button small icon="edit" label={`Edit ${what}`} buttonRef={buttonRef} onClick={onClick}>
      Edit
    </Button>
  );
}

/** Returns the focus to a button that was replaced by fields. */
export function useReturnedFocus(isEditing: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (wasEditing.current && !isEditing) button.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return button;
}
