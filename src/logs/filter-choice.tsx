import type { Child } from 'hono/jsx'
import type { Level } from './level.ts'

/** Filters a log: lines must match all conditions. Empty for all lines. */
export type Chosen = {
  process?: string[] | undefined
  level?: Level[] | undefined
  search?: string | undefined
  stream?: 'stdout' | 'stderr' | undefined
}

/** The filter as a query string; empty for all lines. */
export const queryOf = ({ process = [], level = [], search, stream }: Chosen) =>
  String(
    new URLSearchParams([
      ...process.map((value): [string, string] => ['process', value]),
      ...level.map((value): [string, string] => ['level', value]),
      ...(stream ? [['stream', stream] as [string, string]] : []),
      ...(search ? [['search', search] as [string, string]] : []),
    ]),
  )

/** Links to the same page with one choice added or removed. */
export const Choice = ({
  path,
  chosen,
  isShown,
  children,
  ...attributes
}: {
  path: string
  /** The filter after a click. */
  chosen: Chosen
  isShown: boolean
  children: Child
  class?: string
}) => {
  const query = queryOf(chosen)
  return (
    <a
      {...attributes}
      href={query ? `${path}?${query}` : path}
      aria-current={isShown ? 'true' : undefined}
    >
      {children}
    </a>
  )
}

export const LevelChoice = ({ path, chosen }: { path: string; chosen: Chosen }) => {
  const { level: shown = [] } = chosen
  return (
    <nav class="log-choice" aria-label="Levels">
      {Object.entries(names).map(([name, word]) => {
        const level = name as Level
        const isShown = shown.includes(level)
        const others = shown.filter((other) => other !== level)
        return (
          <Choice
            class={`level ${level}`}
            path={path}
            chosen={{ ...chosen, level: isShown ? others : [...others, level] }}
            isShown={isShown}
          >
            {word}
          </Choice>
        )
      })}
    </nav>
  )
}

const names: Record<Level, string> = {
  error: 'Errors',
  warn: 'Warnings',
  info: 'Info',
  debug: 'Debug',
}
