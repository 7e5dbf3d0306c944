/** The steps that are left, shared by everything that is matched in sequence. */
export type Effort = { left: number }

export class EffortSpent extends Error {}

/** Throws EffortSpent when fewer steps are left. */
export function spend(effort: Effort, steps: number) {
  effort.left -= steps
  if (effort.left < 0) throw new EffortSpent()
}

/**
 * A position in a pattern. `char` continues after a character that it accepts, the others without one:
 * `split` always, `first` before the first character, `last` after the last. `end` has matched.
 */
export type State =
  | { kind: 'char'; is: (char: string) => boolean; next: number[] }
  | { kind: 'split' | 'first' | 'last'; next: number[] }
  | { kind: 'end' }

/**
 * Returns true when the characters lead from the state `start` to an end, starting anywhere or, if
 * `anchored`, at the first one. Follows all paths at once, each state at most once for a character: the time
 * is linear in the text for any pattern, and is counted. Throws EffortSpent.
 */
export function matches(
  states: State[],
  chars: ArrayLike<string>,
  { start, effort, anchored = false }: { start: number; effort: Effort; anchored?: boolean },
): boolean {
  /** The position in the text, counted from 1, at which each state was last reached. */
  const reachedAt = new Uint32Array(states.length)
  const { length } = chars
  const open: number[] = []
  let current: number[] = []
  let following: number[] = []
  let steps = 0
  for (let at = 0; at <= length; at++) {
    if (at === 0 || !anchored) reach(start, at)
    ;[current, following] = [following, current]
    following.length = 0
    if (current.length === 0 && anchored) return false
    spend(effort, steps)
    steps = 0
    const char = chars[at]
    for (const index of current) {
      const state = states[index]!
      if (state.kind === 'end') return true
      if (state.kind === 'char' && char !== undefined && state.is(char))
        for (const next of state.next) reach(next, at + 1)
    }
  }
  return false

  /** Marks the states from there that accept a character. Not recursive, as a pattern may be long. */
  function reach(from: number, at: number) {
    for (let index: number | undefined = from; index !== undefined;) {
      let next: number | undefined
      if (reachedAt[index] !== at + 1) {
        reachedAt[index] = at + 1
        steps++
        const state: State = states[index]!
        if (state.kind === 'char' || state.kind === 'end') following.push(index)
        else if (state.kind === 'split' || (state.kind === 'first' ? at === 0 : at === length)) {
          next = state.next[0]
          for (let other = 1; other < state.next.length; other++) open.push(state.next[other]!)
        }
      }
      index = next ?? (open.length > 0 ? open.pop() : undefined)
    }
  }
}
