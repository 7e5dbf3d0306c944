import type { Work } from './run.ts'

/** One change of the server. */
export type Step = {
  /** As an order, for lists: "Create the user davit". */
  does: string
  /** What that consists of, where it is more than one thing. */
  parts?: string[]
  /** Whether the server is that way already, with what is left to do before. Nothing has changed yet. */
  isDone: (left: Step[]) => boolean | Promise<boolean>
  /** Repeatable: it may have been interrupted anywhere. */
  act: (work: Work) => Promise<void>
  /** Puts back what was there before, where leaving the change would harm. */
  undo?: (work: Work) => Promise<void>
  /** Whether Davit runs with the change afterwards, so that no other step has to restart it. */
  restarts?: boolean
}

/** The steps that are left to do. */
export async function stepsLeft(steps: Step[]): Promise<Step[]> {
  const left: Step[] = []
  for (const step of steps) if (!(await step.isDone(left))) left.push(step)
  return left
}

/**
 * Takes the steps in order. When one fails, it and those before it are undone in reverse order, as far as they
 * can be, and the error is thrown: the server is as it was, but for installed packages.
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
      const calm = { ...work, signal: new AbortController().signal }
      for (const done of taken.reverse())
        await done.undo?.(calm).catch((cause) => work.say(`Undoing failed: ${cause.message}`))
      throw error
    }
  }
}
