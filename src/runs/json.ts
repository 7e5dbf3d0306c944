import type { Run } from './store.ts'

/** For the API. An error says why there is no exit code, or what it means. */
export const runJson = (run: Run) => {
  const { id, environmentId, command, status, exitCode, createdAt, finishedAt } = run
  const { errorCode, errorMessage, errorHint } = run
  return {
    id,
    environmentId,
    command,
    status,
    exitCode,
    error: errorCode ? { code: errorCode, message: errorMessage, hint: errorHint } : null,
    createdAt,
    finishedAt,
  }
}
