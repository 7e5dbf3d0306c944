import { Choice } from './filter-choice.tsx'
import type { Chosen } from './filter-choice.tsx'
import { accessProcess, processLabel } from './log-line.tsx'
import type { ProcessCount } from './process-store.ts'

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
        const others = shown.filter((other) => other !== process)
        const isShown = shown.includes(process)
        const of = choices.indexOf(process.replace(/ \d+$/, '')) // one container has its process's colour
        return (
          <Choice
            class={`process ${colourOf(of < 0 ? at : of)}`}
            path={path}
            chosen={{ ...chosen, process: isShown ? others : [...others, process] }}
            isShown={isShown}
          >
            <bdi>{process}</bdi>
          </Choice>
        )
      })}
    </nav>
  )
}
