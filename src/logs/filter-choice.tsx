import type { Child } from 'hono/jsx'
import type { OutputQuery } from './forms.ts'
import type { Level } from './level.ts'
import { accessProcess, processLabel } from './log-line.tsx'
import type { ProcessCount } from './process-store.ts'

/** Filters a log: lines must match all conditions. Empty for all lines. */
export type Chosen = Partial<
  Pick<OutputQuery, 'process' | 'level' | 'search' | 'stream' | 'before'>
>

/** The filter as a query string, wherever in the log; empty for all lines. */
export const queryOf = ({ process = [], level = [], search, stream }: Chosen) =>
  String(
    new URLSearchParams([
      ...process.map((value): [string, string] => ['process', value]),
      ...level.map((value): [string, string] => ['level', value]),
      ...(stream ? [['stream', stream] as [string, string]] : []),
      ...(search ? [['search', search] as [string, string]] : []),
    ]),
  )

/** The filter of the script's requests. A search isn't included, since it moves from line to line instead. */
export const filterOf = (chosen: Chosen = {}) => queryOf({ ...chosen, search: undefined })

export const withQuery = (path: string, ...parameters: string[]) => {
  const query = parameters.filter((some) => some !== '').join('&')
  return query ? `${path}?${query}` : path
}

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
}) => (
  <a
    {...attributes}
    href={withQuery(path, queryOf(chosen))}
    aria-current={isShown ? 'true' : undefined}
  >
    {children}
  </a>
)

/** The values with this one added, or without it. */
const toggled = <Value,>(values: Value[], value: Value) =>
  values.includes(value) ? values.filter((other) => other !== value) : [...values, value]

export const LevelChoice = ({ path, chosen }: { path: string; chosen: Chosen }) => {
  const { level: shown = [] } = chosen
  return (
    <nav class="log-choice" aria-label="Levels">
      {Object.entries(names).map(([name, word]) => {
        const level = name as Level
        return (
          <Choice
            class={`level ${level}`}
            path={path}
            chosen={{ ...chosen, level: toggled(shown, level) }}
            isShown={shown.includes(level)}
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

/** The number of colours in tokens.css. */
const colours = 8

/** The colour class of a process, by its position in a list. */
export const colourOf = (at: number) => `p${at % colours}`

/** The choices for a filter: processes, or the containers of the only one, and requests. */
export function choicesOf(processes: ProcessCount[]): string[] {
  const own = processes.filter(({ process }) => process !== accessProcess)
  return [...ownChoices(own), ...(own.length < processes.length ? [accessProcess] : [])]
}

function ownChoices(processes: ProcessCount[]) {
  const [only] = processes
  if (processes.length !== 1 || only!.replicas === 1) return processes.map(({ process }) => process)
  const { process, replicas } = only!
  return Array.from({ length: replicas }, (_, at) => processLabel({ process, replica: at + 1 }))
}

/**
 * Filters by process: each name adds or removes one. Without a choice it is hidden, until log-processes.js
 * finds a line of another process.
 */
export const ProcessChoice = ({
  path,
  choices,
  chosen,
}: {
  path: string
  choices: string[]
  /** Without a process all lines are shown. */
  chosen: Chosen
}) => {
  const { process: shown = [] } = chosen
  return (
    <nav
      class="log-choice log-processes"
      aria-label="Processes"
      data-colours={colours}
      hidden={choices.length < 2 && shown.length === 0}
    >
      <Choice path={path} chosen={{ ...chosen, process: [] }} isShown={shown.length === 0}>
        All
      </Choice>
      {[...new Set([...choices, ...shown])].map((process, at) => {
        const of = choices.indexOf(process.replace(/ \d+$/, '')) // one container has its process's colour
        return (
          <Choice
            class={`process ${colourOf(of < 0 ? at : of)}`}
            path={path}
            chosen={{ ...chosen, process: toggled(shown, process) }}
            isShown={shown.includes(process)}
          >
            <bdi>{process}</bdi>
          </Choice>
        )
      })}
    </nav>
  )
}
