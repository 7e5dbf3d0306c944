import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'

/** The three files that docker's own client looks for in DOCKER_CERT_PATH, else in ~/.docker. */
export function readCertificates(certPath: string | null) {
  const folder = certPath ?? join(homedir(), '.docker')
  const read = (name: string) => {
    try {
      return readFileSync(join(folder, name))
    } catch (error) {
      throw new Failure(
        'engine_unreachable',
        `The Docker Engine wants TLS, and ${join(folder, name)} cannot be read.`,
        'Set DOCKER_CERT_PATH to the folder that holds ca.pem, cert.pem and key.pem.',
        { cause: error },
      )
    }
  }
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') }
}
