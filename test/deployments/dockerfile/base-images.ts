import { imageUses } from '../../../src/deployments/dockerfile/base-images.ts'
import { readingsOf } from '../../../src/deployments/dockerfile/instructions.ts'

/** The images that a Dockerfile uses, whichever engine reads it. */
export function baseImages(dockerfile: string, buildArgs: Record<string, string>): string[] {
  const uses = readingsOf(dockerfile).flatMap((reading) => imageUses(reading, { buildArgs }))
  return [...new Set(uses.map(({ image }) => image))]
}
