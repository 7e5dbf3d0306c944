import type { Child } from 'hono/jsx'
import { processLabel } from './log-line.tsx'
import type { ProcessCount } from './process-store.ts'

/** Colours that there are; see tokens.css. */
const colours = 8

/** The class of the colour that a process has by its place in a list. */
export const colourOf = (at: number) => `p${at % colours}`

/** What a log can be filtered by: its processes, or the containers of the only one. */
export function choicesOf(processes: ProcessCount[]): string[] {
  const [only] = processes
  if (processes.length !== 1) return processes.map(({ process }) => process)
  const { process, replicas } = only!
  if (replicas === 1) return [process]
  return Array.from({ length: replicas }, (_, at) => processLabel({ process, replica: at + 1 }))
}

/** The part of an address that chooses processes; empty for all. */
export const queryOf = (chosen: string[]) =>
  String(new URLSearchParams(chosen.map((process): [string, string] => ['process', process])))

/**
 * Whose lines a log shows: each name adds or removes one. Where there is nothing to choose it is hidden,
 * until log-processes.js finds a line of another process.
 */
export const ProcessChoice = ({
  path,
  choices,
  chosen,
}: {
  path: string
  choices: string[]
  /** All are shown where none is. */
  chosen: string[]
}) => (
  <nav
    class="log-processes"
    aria-label="Processes"
    data-colours={colours}
    hidden={choices.length < 2 && chosen.length === 0}
  >
    <Choice path={path} chosen={[]} isShown={chosen.length === 0}>
      All
    </Choice>
    {[...new Set([...choices, ...chosen])].map((process, at) => {
      const others = chosen.filter((other) => other !== process)
      const isShown = chosen.includes(process)
      const of = choices.indexOf(process.replace(/ \d+$/, '')) // one container has its process's colour
      return (
        <Choice
          class={`process ${colourOf(of < 0 ? at : of)}`}
          path={path}
          chosen={isShown ? others : [...others, process]}
          isShown={isShown}
        >
          <bdi>{process}</bdi>
        </Choice>
      )
    })}
  </nav>
)

const Choice = ({
  path,
  chosen,
  isShown,
  children,
  ...attributes
}: {
  path: string
  /** What is shown after a click. */
  chosen: string[]
  isShown: boolean
  children: Child
  class?: string
}) => (
  <a
    {...attributes}
    href={chosen.length > 0 ? `${path}?${queryOf(chosen)}` : path}
    aria-current={isShown ? 'true' : undefined}
  >
    {children}
  </a>
)
