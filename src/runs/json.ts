import { z } from 'zod'
import {
  componentOf,
  id,
  shown,
  time,
  does,
  lists,
  creates,
  works,
  reads,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { command } from '../environments/json.ts'
import { jobLog, logLine } from '../logs/json.ts'
import { runStatuses } from './store.ts'
import type { Run } from './store.ts'

export const run = componentOf('Run', () => ({
  id,
  environmentId: id,
  scheduleId: id.nullable(),
  command: command(),
  stdin: z.boolean(),
  status: z.enum(runStatuses),
  exitCode: z.int().nullable(),
  error: z
    .object({ code: z.string(), message: z.string(), hint: z.string().nullable() })
    .nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
}))

export function runJson(row: Run) {
  const { errorCode: code, errorMessage: message, errorHint: hint } = row
  return shown(run, { ...row, error: code ? { code, message: message ?? '', hint } : null })
}

export const operations: SliceOperations = () => ({
  Runs: {
    'GET /envs/:envId/runs': lists('List runs, newest first', run()),
    'POST /envs/:envId/runs': creates(
      'Run a command in a new container of the live image; with attach it waits for a client, at most 60 s, and has a terminal; with stdin it waits as well, and reads what the client sends',
      run(),
    ),
    'GET /envs/:envId/runs/:id': does('Get a run', run()),
    'GET /envs/:envId/runs/:id/logs': reads('Read, search or follow its log', jobLog(), logLine()),
    'GET /envs/:envId/runs/:id/attach': does(
      'Attach over a WebSocket of bytes, with {"resize":[80,24]} as text; at the end it says {"ended":"…","exitCode":0}. Input is only for a run that was started with attach, which has a terminal, or stdin, whose input ends with {"end":true}. Without a handshake: get the run',
      run(),
    ),
    'POST /envs/:envId/runs/:id/cancel': works('Cancel a run that has not ended', run()),
  },
})
