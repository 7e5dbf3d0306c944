import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { newId } from '../db/new-id.ts'
import type { Docker } from '../docker/index.ts'
import { findOwnLiveEnvironment, getMain } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { insertJob } from '../jobs/store.ts'
import { AppError } from '../platform/errors.ts'
import { refuseMore, usualTimeout } from '../platform/limits.ts'
import type { Project } from '../projects/store.ts'
import { command, flag, whole } from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'
import { whileAlive } from '../docker/while-alive.ts'
import { countActive, getStatus, insertRun } from './store.ts'
import type { Run } from './store.ts'

/**
 * With `attach` it has a terminal, and waits until someone attaches to it. With `stdin` it waits as well, and reads
 * what that client sends.
 */
export const runForm = z
  .object({
    command: field(command(), {
      label: 'Command',
      placeholder: 'bin/rails db:seed',
      hint: "Split into words as in a shell. For pipes and variables use sh -c '…'.",
      ...{ code: true, isNarrow: true },
    }),
    timeout: field(whole('seconds', { min: 1, max: 86_400 }).nullish(), {
      ...{ label: 'Timeout', unit: 'seconds', placeholder: String(usualTimeout) },
      ...{ inputmode: 'numeric', isNarrow: true },
    }),
    attach: field(flag().default(false), {
      label: 'Open a terminal',
      hint: 'For a console or a shell. The command starts once the terminal is connected.',
      isFlag: true,
    }),
    stdin: flag().default(false),
  })
  .refine(({ attach, stdin }) => !attach || !stdin, {
    path: ['stdin'],
    error: 'can’t be combined with attach, whose terminal has input.',
  })

type StartDeps = { db: Db; docker: Docker; jobs: Jobs; config: Pick<Config, 'terminal'> }

export function refuseTurnedOff({ terminal }: Pick<Config, 'terminal'>) {
  if (terminal === 'off')
    throw new AppError(
      'forbidden',
      'Terminals are turned off on this server (DAVIT_TERMINAL=off). Run the command without one.',
    )
}

export async function findImage(
  { db, docker }: Pick<StartDeps, 'db' | 'docker'>,
  { id, name }: Pick<Environment, 'id' | 'name'>,
) {
  const live = getMain(db, id)
  if (!live)
    throw new AppError(
      'conflict',
      `Nothing is deployed in ${name}, so there is no image to run a command in. Deploy it first.`,
    )
  if (live.image && (await whileAlive(docker, docker.hasImage(live.image)))) return live
  throw new AppError(
    'conflict',
    `The live image of ${name} was removed. Deploy it again to rebuild it.`,
  )
}

type Request = {
  environment: Environment
  project: Pick<Project, 'ownerId'>
  startedBy: string
  input: z.output<typeof runForm>
}

/** Stores a run of a command in the live image, and wakes its job. */
export async function startRun(
  deps: StartDeps,
  { environment, project: { ownerId }, startedBy, input }: Request,
): Promise<Run> {
  const { db, jobs, config } = deps
  if (input.attach) refuseTurnedOff(config)
  const { id: deploymentId } = await findImage(deps, environment)
  const run = asWriter(db, (tx) => {
    // deleting the environment meanwhile ends its existing runs
    findOwnLiveEnvironment(db, { id: environment.id, ownerId })
    refuseMore('runs', countActive(db, ownerId))
    const id = newId()
    // several run at once, so each is its own subject
    insertJob(tx, { id, kind: 'run', subjectId: id, ownerId, slot: null })
    return insertRun(db, {
      ...{ id, environmentId: environment.id, deploymentId, startedBy },
      ...{ ...input, timeout: input.timeout ?? usualTimeout },
    })
  })
  jobs.wake()
  return run
}

/** Resolves when its container was removed. */
export const cancelRun = (
  { db, jobs }: { db: Db; jobs: Jobs },
  { run: { id }, by }: { run: Run; by: string },
) =>
  jobs.cancelFor(by, [id], {
    refusal: () => `This run has already ended (${getStatus(db, id)}), so it can’t be cancelled.`,
  })
