import type { Child } from 'hono/jsx'
import type { Level } from './level.ts'

/** Which lines of a log are shown: those that match all of it, every line where it is empty. */
export type Chosen = {
  process?: string[] | undefined
  level?: Level[] | undefined
  search?: string | undefined
  /** Of a container, which has two. */
  stream?: 'stdout' | 'stderr' | undefined
}

/** The part of an address that chooses lines; empty for all. */
export const queryOf = ({ process = [], level = [], search, stream }: Chosen) =>
  String(
    new URLSearchParams([
      ...process.map((value): [string, string] => ['process', value]),
      ...level.map((value): [string, string] => ['level', value]),
      ...(stream ? [['stream', stream] as [string, string]] : []),
      ...(search ? [['search', search] as [string, string]] : []),
    ]),
  )

/** A link to the page with other lines; it adds a choice to those there are, or takes one away. */
export const Choice = ({
  path,
  chosen,
  isShown,
  children,
  ...attributes
}: {
  path: string
  /** What is shown after a click. */
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

/** Lines of which levels a log shows. */
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
