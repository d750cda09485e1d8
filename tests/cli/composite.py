# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out the steps of a composite action as a runner of GitHub Actions does: inputs and outputs, conditions, the files in which
steps leave outputs, paths and the summary. Knows the expressions that our action uses, and refuses others."""
import os
import re
import subprocess

import yaml


class Runner:
    """One job. `service` is where the API is, `workspace` the checkout, `wrapper` the words before each command."""

    def __init__(self, action, workspace, temporary, environment, wrapper=()):
        with open(f"{action}/action.yml", encoding="utf-8") as file:
            self.action = yaml.safe_load(file)
        self.path, self.workspace, self.temporary, self.wrapper = action, workspace, temporary, list(wrapper)
        self.environment, self.added = environment, []
        self.outputs, self.uploaded, self.log, self.failed = {}, [], "", False

    def value(self, expression, inputs):
        """Of an expression without its ${{ }}."""
        for operator, function in (" && ", all), (" || ", any):
            if operator in expression:
                return function(bool(self.value(part, inputs)) for part in expression.split(operator))
        comparison = re.fullmatch(r"(.+?) (==|!=) '(.*)'", expression)
        if comparison:
            same = self.value(comparison[1], inputs) == comparison[3]
            return same == (comparison[2] == "==")
        if expression == "always()":
            return True
        if expression == "github.token":
            return self.environment["TEST_TOKEN"]
        if re.fullmatch(r"inputs\.[a-z-]+", expression):
            assert expression[7:] in self.action["inputs"], expression
            return inputs[expression[7:]]
        output = re.fullmatch(r"steps\.([a-z]+)\.outputs\.([a-z]+)", expression)
        assert output, f"the runner does not know {expression!r}"
        return self.outputs.get(output[1], {}).get(output[2], "")

    def text(self, text, inputs):
        """With the values of its expressions."""
        return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda m: str(self.value(m[1], inputs)), str(text))

    def step(self, number, step, inputs):
        """Carries one out; returns whether it succeeded."""
        condition = step.get("if", "success()")
        if condition == "success()":
            if self.failed:
                return True
        elif not self.value(condition, inputs):
            return True
        if "uses" in step:
            assert step["uses"].startswith("actions/upload-artifact@"), step["uses"]
            path = self.text(step["with"]["path"], inputs)
            self.uploaded.append((step["with"]["name"], sorted(os.listdir(path))))
            return True
        assert step["shell"] == "bash", "each step of a composite action names its shell"
        files = {name: f"{self.temporary}/{name.lower()}_{number}" for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for name in files.values():
            with open(name, "w", encoding="utf-8"):
                os.chmod(name, 0o666)
        environment = {**self.environment, **files, "GITHUB_ACTION_PATH": self.path, "GITHUB_WORKSPACE": self.workspace}
        environment["PATH"] = ":".join(self.added + [environment["PATH"]])
        environment.update((name, self.text(value, inputs)) for name, value in step.get("env", {}).items())
        script = f"{self.temporary}/step_{number}.sh"
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.text(step["run"], inputs))
        os.chmod(script, 0o644)
        done = subprocess.run([*self.wrapper, "bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.workspace, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.log += f"## {step.get('name')}: status {done.returncode}\n{done.stdout}"
        with open(files["GITHUB_OUTPUT"], encoding="utf-8") as file:
            self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in file.read().splitlines())
        with open(files["GITHUB_PATH"], encoding="utf-8") as file:
            self.added = file.read().splitlines() + self.added
        with open(files["GITHUB_STEP_SUMMARY"], encoding="utf-8") as file:
            self.log += file.read()
        return done.returncode == 0 or step.get("continue-on-error", False)

    def run(self, given):
        """All steps, with these inputs. Returns whether the job is green."""
        unknown = set(given) - set(self.action["inputs"])
        assert not unknown, unknown
        inputs = {name: str(given.get(name, of.get("default", ""))) for name, of in self.action["inputs"].items()}
        inputs = {name: self.text(value, {}) for name, value in inputs.items()}
        assert self.action["runs"]["using"] == "composite"
        for number, step in enumerate(self.action["runs"]["steps"]):
            self.failed |= not self.step(number, step, inputs)
        return not self.failed
