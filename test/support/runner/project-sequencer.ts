import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs the files of one project after those of another: a worker keeps the modules that it has loaded as long as the
 * next file is of the same project. What waits for other programs comes first, so that the run ends with short files.
 */
export class ProjectSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = ["installed", "faults", "local", "quick"];
    const toRank = ({ project }: TestSpecification): number => projects.indexOf(project.name);
    return sorted.sort((one, other) => toRank(one) - toRank(other));
  }
}
