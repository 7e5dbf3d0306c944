import type { Work } from './run.ts'
import { neverAborted } from '../platform/pause.ts'

/** One change of the server. */
export type Step = {
  /** An imperative, for lists: "Create the user davit". */
  does: string
  /** Its parts, if there are several. */
  parts?: string[]
  /** Gets the steps before it that are left to do. Runs before any change. */
  isDone: (left: Step[]) => boolean | Promise<boolean>
  /** Repeatable, since it may have been interrupted anywhere. */
  act: (work: Work) => Promise<void>
  /** Restores the earlier state, where leaving the change would do harm. */
  undo?: (work: Work) => Promise<void>
  /** True if Davit runs with the change afterwards, so that no other step has to restart it. */
  restarts?: boolean
}

export async function stepsLeft(steps: Step[]): Promise<Step[]> {
  const left: Step[] = []
  for (const step of steps) if (!(await step.isDone(left))) left.push(step)
  return left
}

/**
 * Runs the steps in order. If one fails, it and those before it are undone in reverse order
 * as far as possible, and the error is thrown; installed packages stay.
 */
export async function takeSteps(steps: Step[], work: Work) {
  const taken: Step[] = []
  for (const [index, step] of steps.entries()) {
    work.say(`[${index + 1}/${steps.length}] ${step.does}`)
    taken.push(step)
    try {
      work.signal.throwIfAborted()
      await step.act(work)
    } catch (error) {
      const calm = { ...work, signal: neverAborted() }
      for (const done of taken.reverse())
        await done.undo?.(calm).catch((cause) => work.say(`Undoing failed: ${cause.message}`))
      throw error
    }
  }
}
