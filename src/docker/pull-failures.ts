import { Failure } from '../platform/errors.ts'
import type { EngineError } from './failures.ts'

type Explanation = { means: RegExp; code: string; says: (ref: string) => string; hint: string }

/** From the plainest words of the engine to the vaguest: the first that fits is told. */
const explanations: Explanation[] = [
  {
    means: /no space left on device|disk quota exceeded/i,
    code: 'no_space',
    says: (ref) => `The disk of the Docker Engine has no room for the image ${ref}.`,
    hint: 'Remove images and volumes that nothing uses any more, then try again.',
  },
  {
    means: /invalid reference format|invalid repository name|invalid tag format/i,
    code: 'image_name_invalid',
    says: (ref) => `“${ref}” is not the name of an image.`,
    hint: 'Write it as name:tag, or registry/name:tag.',
  },
  {
    means: /no matching manifest|does not match the specified platform/i,
    code: 'image_platform',
    says: (ref) => `There is no image ${ref} for this kind of processor.`,
    hint: 'Choose a tag that is made for it, or another image.',
  },
  {
    means: /toomanyrequests|too many requests|rate limit/i,
    code: 'registry_busy',
    says: (ref) => `The registry lets nobody pull ${ref} at the moment: too many have been pulled.`,
    hint: 'Wait a while, or add a login for the registry under Settings, Registries.',
  },
  {
    means: /repository does not exist or may require|pull access denied/i,
    code: 'image_not_found',
    says: (ref) => `The registry has no image ${ref}, or gives it only to those who log in.`,
    hint: 'Check the name, or add a login for the registry under Settings, Registries.',
  },
  {
    means:
      /unauthorized|authentication required|no basic auth|access denied|incorrect username|denied:/i,
    code: 'registry_unauthorized',
    says: (ref) => `The registry refuses the login that ${ref} was to be pulled with.`,
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
    says: (ref) => `The registry that has ${ref} cannot be reached by the Docker Engine.`,
    hint: 'Check the name of the registry, and the network, the proxy and the certificates of the engine.',
  },
]

/** Why an image could not be brought, from what the engine said. */
export function explainPull(ref: string, error: EngineError): Failure {
  const known = explanations.find(({ means }) => means.test(error.message))
  if (known) return new Failure(known.code, known.says(ref), known.hint, { cause: error })
  return new Failure(
    'pull_failed',
    `The image ${ref} could not be pulled: ${error.message}`,
    'Read what the engine says, and look at its log (journalctl -u docker).',
    { cause: error },
  )
}
