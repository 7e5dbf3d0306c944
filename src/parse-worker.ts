import {
  inspectDockerfile,
  inspectStages,
  rewriteDockerfile,
} from './deployments/dockerfile/inspect.ts'
import { refuseTriggers } from './deployments/dockerfile/sources.ts'
import { detect, survey } from './detection/detect.ts'
import { manifestsOf } from './detection/manifests.ts'
import { ignoredPaths } from './git/dockerignore.ts'
import { watchedFiles } from './git/watched-path.ts'
import { matchingRefs } from './git/ref-pattern.ts'
import { nearestRefs } from './git/unknown-ref.ts'
import { readAnswer } from './git/providers/read-answer.ts'
import { plainError } from './platform/errors.ts'
import { readTags } from './registries/tags.ts'
import { openOwnFile } from './services/compose/open.ts'
import { planStack } from './services/compose/repository.ts'
import { placeMistakes, readDavitText } from './projects/davit-text.ts'
import { readPull, readPush } from './webhooks/payload.ts'
import { readNotice } from './webhooks/registry-notice.ts'
import { touchesEach } from './webhooks/watch-paths.ts'
import type { Reply } from './platform/worker-pool.ts'

declare const self: Worker

/** Functions for `parse`: they take plain values only, and limit their own work where needed. */
const tasks: Record<string, (...args: never[]) => unknown> = {
  detect,
  ignoredPaths,
  inspectDockerfile,
  inspectStages,
  manifestsOf,
  matchingRefs,
  nearestRefs,
  openOwnFile,
  placeMistakes,
  planStack,
  readAnswer,
  readDavitText,
  readNotice,
  readPull,
  readPush,
  readTags,
  refuseTriggers,
  rewriteDockerfile,
  survey,
  touchesEach,
  watchedFiles,
}

type Request = { name: string; args: never[] }

self.onmessage = ({ data }: MessageEvent<Request>) => self.postMessage(reply(data))
self.postMessage({ value: 'ready' } satisfies Reply)

function reply({ name, args }: Request): Reply {
  try {
    return { value: tasks[name]!(...args) }
  } catch (error) {
    return { error: plainError(error) }
  }
}
