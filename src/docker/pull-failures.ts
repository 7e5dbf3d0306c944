import { Failure } from '../platform/errors.ts'
import type { EngineError } from './failures.ts'

type Explanation = { means: RegExp; code: string; says: (ref: string) => string; hint: string }

/** From the most specific message of the engine to the vaguest: the first match is used. */
const explanations: Explanation[] = [
  {
    means: /no space left on device|disk quota exceeded/i,
    code: 'no_space',
    says: (ref) => `The disk of the Docker Engine is too full for the image ${ref}.`,
    hint: 'Remove unused images and volumes, then try again.',
  },
  {
    means: /invalid reference format|invalid repository name|invalid tag format/i,
    code: 'image_name_invalid',
    says: (ref) => `“${ref}” isn’t a valid image name.`,
    hint: 'Write it as name:tag, or registry/name:tag.',
  },
  {
    means: /no matching manifest|does not match the specified platform/i,
    code: 'image_platform',
    says: (ref) => `The image ${ref} isn’t available for this processor architecture.`,
    hint: 'Choose a tag that supports it, or another image.',
  },
  {
    means: /toomanyrequests|too many requests|rate limit/i,
    code: 'registry_busy',
    says: (ref) => `The registry’s rate limit was reached while pulling ${ref}.`,
    hint: 'Wait a while, or add a login for the registry under Settings, Registries.',
  },
  {
    means: /repository does not exist or may require|pull access denied/i,
    code: 'image_not_found',
    says: (ref) => `The registry has no image ${ref}, or requires a login for it.`,
    hint: 'Check the name, or add a login for the registry under Settings, Registries.',
  },
  {
    means:
      /unauthorized|authentication required|no basic auth|access denied|incorrect username|denied:/i,
    code: 'registry_unauthorized',
    says: (ref) => `The registry refused the login for ${ref}.`,
    hint: 'Add or correct the login of the registry under Settings, Registries.',
  },
  {
    means: /manifest unknown|manifest for .* not found|name unknown|not found/i,
    code: 'image_not_found',
    says: (ref) => `The registry has no image ${ref}.`,
    hint: 'Check its name and its tag.',
  },
  {
    means:
      /dial tcp|no such host|connection refused|connection reset|i\/o timeout|Client\.Timeout|deadline exceeded|x509|tls: |HTTP response to HTTPS|network is unreachable|EOF/i,
    code: 'registry_unreachable',
    says: (ref) => `Docker can’t reach the registry of ${ref}.`,
    hint: 'Check the name of the registry, and Docker’s network, proxy and certificates.',
  },
]

/** For a registry that doesn't respond to the engine. */
export const noAnswer = (ref: string, cause: Failure) =>
  new Failure(
    'registry_unreachable',
    `The registry of ${ref} didn’t respond in time.`,
    'Try again later. If it keeps failing, check the registry and this server’s connection to it.',
    { cause },
  )

/** What Davit found out itself, as the engine would say it. */
export function pullFailure(code: string, ref: string) {
  const { says, hint } = explanations.find((one) => one.code === code)!
  return new Failure(code, says(ref), hint)
}

/** Explains from the engine's message why an image couldn't be pulled. */
export function explainPull(ref: string, error: EngineError): Failure {
  const known = explanations.find(({ means }) => means.test(error.message))
  if (known) return new Failure(known.code, known.says(ref), known.hint, { cause: error })
  return new Failure(
    'pull_failed',
    `The image ${ref} couldn’t be pulled: ${error.message}`,
    'Check Docker’s message and its log (journalctl -u docker).',
    { cause: error },
  )
}

const alsoOfPush = ['registry_busy', 'registry_unauthorized', 'registry_unreachable']

/** Explains from the engine's message why an image couldn't be pushed. */
export function explainPush(ref: string, error: EngineError): Failure {
  const known = explanations.find(
    ({ means, code }) => alsoOfPush.includes(code) && means.test(error.message),
  )
  if (known) return new Failure(known.code, known.says(ref), known.hint, { cause: error })
  return new Failure(
    'push_failed',
    `The image ${ref} couldn’t be pushed: ${error.message}`,
    'Check the registry, and that its login may push there.',
    { cause: error },
  )
}
