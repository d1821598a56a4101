import { useState } from 'preact/hooks';
import { useQuery } from './use-query.ts';

/** The dialog of a page that creates something. Addresses with `?new` open it, too. */
export function useNewDialog(): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const { query, change } = useQuery();
  const [isOpen, setOpen] = useState(false);
  const isLinked = query.new !== undefined;
  return [
    isOpen || isLinked,
    next => {
      setOpen(next);
      if (!next && isLinked) change({ new: undefined });
    },
  ];
}
